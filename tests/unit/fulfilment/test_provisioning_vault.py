"""Configurations are encrypted with the first key and decrypted with any."""

from hypothesis import given
from hypothesis import strategies as st

from tradecounter.shipments.provisioning_vault import ProvisioningVault
from tradecounter.shipments.wire import ConfigurationRequest

texts = st.text(min_size=1, max_size=200)
configurations = st.builds(ConfigurationRequest, texts, texts, texts | st.none(), texts | st.none())


def vault(*keys: str) -> ProvisioningVault:
    return ProvisioningVault(lambda: [key * 32 for key in keys])


@given(configurations)
def test_data_of_a_former_key_is_decrypted_and_encrypted_again(
    configuration: ConfigurationRequest,
) -> None:
    sealed = vault("a").encrypt(configuration)
    assert vault("b", "c", "a").unseal(sealed) == configuration
    resealed = vault("b", "c", "a").reseal(sealed)
    assert resealed is not None
    assert vault("b").unseal(resealed) == configuration
    assert vault("a").unseal(resealed) is None
    assert vault("b", "a").reseal(resealed) == resealed


@given(st.binary(max_size=300) | st.builds(vault("a").encrypt, configurations))
def test_data_that_no_key_encrypted_is_not_decrypted(sealed: bytes) -> None:
    assert vault("b", "c").unseal(sealed) is None
    assert vault("b", "c").reseal(sealed) is None
