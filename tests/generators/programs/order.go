package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"client"
)

func must[T any](found T, _ any, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return found
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("BASE")}}
	keys := map[string]client.APIKey{"apiKey": {Key: os.Getenv("KEY")}}
	ctx := context.WithValue(context.Background(), client.ContextAPIKeys, keys)
	api := client.NewAPIClient(configuration)

	product := must(api.CatalogueAPI.GetProduct(ctx, "CV-320P").Execute())
	saved := client.NewOrderAddressDetails()
	saved.SetId(must(api.AccountAPI.ListAddresses(ctx).Execute())[0].GetId())
	site := client.NewOrderAddressDetails()
	site.SetContactName("Sam Fitter")
	site.SetStreetOne("1 Site Road")
	site.SetCity("Leeds")
	site.SetZip("LS1 4AP")
	site.SetCountryCode("GB")
	items := []client.CreateOrderItem{*client.NewCreateOrderItem(product.GetSku(), 6)}

	wanted := client.NewCreateOrderRequest("PO-go", items, *saved, *site)
	created := must(api.OrdersAPI.CreateOrder(ctx).CreateOrderRequest(*wanted).IdempotencyKey("go").Execute())
	choice := client.NewShippingChoice(created.GetShippingOptions()[0].GetId())
	confirmation := client.NewConfirmOrderRequest()
	confirmation.SetShippingMethod(*choice)
	confirmed := must(api.OrdersAPI.ConfirmOrder(ctx, created.GetConfirmationCode()).ConfirmOrderRequest(*confirmation).Execute())
	read := must(api.OrdersAPI.GetOrder(ctx, confirmed.GetOrderReference()).Execute())
	listed := must(api.OrdersAPI.ListOrders(ctx).CustomerReference("PO-go").Execute())

	atOnce := client.NewCreateOrderRequest("PO-go-at-once", items, *saved, *saved)
	atOnce.SetShippingMethod(*choice)
	atOnce.SetAutoConfirm(true)
	second := must(api.OrdersAPI.CreateOrder(ctx).CreateOrderRequest(*atOnce).Execute())

	_, response, err := api.OrdersAPI.GetOrder(ctx, "NOTHING").Execute()
	if err == nil {
		log.Fatal("there is no such order")
	}

	fmt.Println("sku", product.GetSku())
	fmt.Println("net", read.GetCostNet())
	fmt.Println("first", read.GetOrderReference())
	fmt.Println("second", second.GetOrderReference())
	fmt.Println("listed", listed[0].GetOrderReference())
	fmt.Println("unknown", response.StatusCode)
}
