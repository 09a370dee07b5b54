import java.math.BigDecimal;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountApi;
import org.openapitools.client.api.CatalogueApi;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.ConfirmOrderRequest;
import org.openapitools.client.model.CreateOrderItem;
import org.openapitools.client.model.CreateOrderRequest;
import org.openapitools.client.model.CreatedOrder;
import org.openapitools.client.model.OrderAddressDetails;
import org.openapitools.client.model.Product;
import org.openapitools.client.model.ShippingChoice;

public class Order {
    public static void main(String[] arguments) throws ApiException {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("BASE"));
        client.setRequestInterceptor(request -> request.header("X-Api-Key", System.getenv("KEY")));
        CatalogueApi catalogue = new CatalogueApi(client);
        OrdersApi orders = new OrdersApi(client);

        Product product = catalogue.getProduct("CV-320P", null, null);
        OrderAddressDetails saved = new OrderAddressDetails().id(new AccountApi(client).listAddresses().get(0).getId());
        OrderAddressDetails site = new OrderAddressDetails().contactName("Sam Fitter").streetOne("1 Site Road")
            .city("Leeds").zip("LS1 4AP").countryCode("GB");
        List<CreateOrderItem> items = List.of(new CreateOrderItem().sku(product.getSku()).quantity(6L));

        CreatedOrder created = orders.createOrder(new CreateOrderRequest().customerReference("PO-java").items(items)
            .billingAddress(saved).shippingAddress(site), "java");
        ShippingChoice choice = new ShippingChoice().id(created.getShippingOptions().get(0).getId());
        CreatedOrder confirmed = orders.confirmOrder(
            created.getConfirmationCode(), new ConfirmOrderRequest().shippingMethod(choice));
        String listed = orders.listOrders(null, null, null, "PO-java", null, null, null).get(0).getOrderReference();
        BigDecimal net = orders.getOrder(confirmed.getOrderReference()).getCostNet();

        CreatedOrder second = orders.createOrder(new CreateOrderRequest().customerReference("PO-java-at-once")
            .items(items).billingAddress(saved).shippingAddress(saved).shippingMethod(choice).autoConfirm(true), null);

        int unknown = 0;
        try {
            orders.getOrder("NOTHING");
        } catch (ApiException error) {
            unknown = error.getCode();
        }

        System.out.println("sku " + product.getSku());
        System.out.println("net " + net);
        System.out.println("first " + confirmed.getOrderReference());
        System.out.println("second " + second.getOrderReference());
        System.out.println("listed " + listed);
        System.out.println("unknown " + unknown);
    }
}
