"""Common passwords of twelve characters and more, and words that digits alone make no better.

Without punctuation and in lower case. Shorter ones are rejected for their length.
"""

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
