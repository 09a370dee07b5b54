"""Hashes passwords with Argon2, off the event loop.

The costs are those that OWASP recommends for servers: 19 MiB and some thirty milliseconds for each hash.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_AT_ONCE = 2

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_threads = ThreadPoolExecutor(_AT_ONCE, "password")
# Verified in place of a hash that does not exist, so that the time does not tell which accounts do.
_NO_HASH = "$argon2id$v=19$m=19456,t=2,p=1$c29tZS1maXhlZC1zYWx0$0000000000000000000000000000000000000000000"


async def hash_password(password: str) -> str:
    """Return the hash of a password; at most two are made at a time."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def is_right(password: str, stored: str | None) -> bool:
    """Return whether a password has a hash; without a hash, takes the same time and returns False."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _is_right, password, stored)


def _is_right(password: str, stored: str | None) -> bool:
    try:
        _hasher.verify(stored or _NO_HASH, password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


_WHOLE = """
    0123456789012 012345678901 123123123123 1234567890123 123456789012 123456789123 12345678910 1234567890
    1q2w3e4r5t6y 1q2w3e4r5t6y7u8i 1qaz2wsx3edc 1qaz2wsx3edc4rfv 111222333444 112233445566 147258369147
    159753159753 192837465 987654321098 9876543210 a1b2c3d4e5f6 aa123456789 abc123456789 abc123abc123
    abcd12345678 abcdefghijkl abcdefghijklm abcdef123456 adminadmin administrator adminpassword
    asdfasdfasdf asdfghjkl asdfghjklqwerty asdf1234asdf azertyuiop azertyuiopqs basketball bismillah
    businessman butterfly changemechangeme changemenow chocolate computer123 correcthorsebatterystaple
    defaultpassword dragondragon footballfootball fuckyoufuckyou hellohello helloworld iloveyou iloveyoubaby
    iloveyouforever iloveyousomuch ihateyou jesuschrist justinbieber letmein letmeinletmein letmeinnow liverpool
    liverpoolfc loveyouforever manchester manchesterunited masterpassword michaeljackson motherfucker
    mypassword mynameis newpassword nopassword notapassword onetwothree onetwothreefour opensesame passpasspass
    passw0rdpassw0rd password passwordpassword passwordisdead password1password p4ssw0rd p4ssword passw0rd
    princess princessprincess q1w2e3r4t5y6 q1w2e3r4t5y6u7i8 qazwsxedc qazwsxedcrfv qazwsxedcrfvtgb qweasdzxc
    qweqweqweqwe qwerqwerqwer qwerty qwertyasdfgh qwertyqwerty qwertyuiop qwertyuiopasdf qwertyuiopasdfghjkl
    qwertyuiopasdfghjklzxcvbnm qwertzuiop qwert12345 rememberme rootroot secret secretpassword secretsecret
    securepassword september starwars starwarsstarwars sunshine superman superpassword supersecret
    supersecretpassword swordfish telecoms telephone temppassword temporary temporarypassword testtest
    testtesttest testpassword thisisapassword thisismypassword topsecret tradecounter trustno1trustno1
    unbelievable undertaker userpassword welcome welcometo welcomeback welcomewelcome whatever whateverwhatever
    wordpass yourpassword zaq12wsx zaq12wsxcde3 zxcvbnm zxcvbnmasdfgh zxcvbnmzxcvbnm
    spring summer autumn winter january february march april may june july august october november december
    monday tuesday wednesday thursday friday saturday sunday arsenal chelsea everton london england britain
    admin manager warehouse support finance customer reseller company office
"""

COMMON: frozenset[str] = frozenset(_WHOLE.split())
