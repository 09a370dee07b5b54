"""Catalogue files at secret addresses, which customers' spreadsheets and shops read."""
