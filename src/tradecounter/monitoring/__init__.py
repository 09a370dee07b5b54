"""What operators watch: metrics for Prometheus, and traces."""
