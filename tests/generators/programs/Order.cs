using System;
using System.Collections.Generic;
using System.Globalization;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

public static class Program
{
    public static void Main()
    {
        var configuration = new Configuration { BasePath = Environment.GetEnvironmentVariable("BASE") };
        configuration.AddApiKey("X-Api-Key", Environment.GetEnvironmentVariable("KEY"));
        var http = new System.Net.Http.HttpClient();
        var orders = new OrdersApi(http, configuration);

        var product = new CatalogueApi(http, configuration).GetProduct("CV-320P");
        var saved = new OrderAddressDetails(id: new AccountApi(http, configuration).ListAddresses()[0].Id);
        var site = new OrderAddressDetails(
            contactName: "Sam Fitter", streetOne: "1 Site Road", city: "Leeds", zip: "LS1 4AP", countryCode: "GB");
        var items = new List<CreateOrderItem> { new CreateOrderItem(product.Sku, 6) };

        var created = orders.CreateOrder(
            new CreateOrderRequest("PO-csharp", items, billingAddress: saved, shippingAddress: site), "csharp");
        var choice = new ShippingChoice(created.ShippingOptions[0].Id);
        var confirmed = orders.ConfirmOrder(created.ConfirmationCode, new ConfirmOrderRequest(choice));
        var read = orders.GetOrder(confirmed.OrderReference);
        var listed = orders.ListOrders(customerReference: "PO-csharp")[0].OrderReference;

        var second = orders.CreateOrder(new CreateOrderRequest(
            "PO-csharp-at-once", items, saved, saved, shippingMethod: choice, autoConfirm: true));

        var unknown = 0;
        try
        {
            orders.GetOrder("NOTHING");
        }
        catch (ApiException error)
        {
            unknown = error.ErrorCode;
        }

        Console.WriteLine("sku " + product.Sku);
        Console.WriteLine("net " + read.CostNet.ToString(CultureInfo.InvariantCulture));
        Console.WriteLine("first " + read.OrderReference);
        Console.WriteLine("second " + second.OrderReference);
        Console.WriteLine("listed " + listed);
        Console.WriteLine("unknown " + unknown);
    }
}
