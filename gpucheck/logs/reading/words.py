"""What people write of a thing that is missing, does not fit, is too old or is not supported, in the usual languages.

Each is a pattern for ``(?i:...)``. ``\\b`` in them is meant for ASCII letters: "cuDNN版本" holds two words (see ``ascii_words``).
"""


def ascii_words(pattern: str) -> str:
    """The pattern with every word boundary between a Latin letter or digit and anything else, and no word without an end."""
    bounded = pattern.replace(r"\w+", r"\w{1,24}").replace(r"\w*", r"\w{0,24}").replace(r"\S*", r"\S{0,80}")
    return bounded.replace(r"\b", r"(?a:\b)")


ABSENT = (
    r"\b(?:is|are|was|were)? ?(?:not|n't)(?: \w+)? (?:installed|found|detected|present|available|recogni[sz]ed|visible|seen)\b"
    r"|\bmissing\b"
    r"|未(?:安装|安裝|找到|检测到|識別|识别)|没有?(?:安装|装|找到|检测到)|沒有?(?:安裝|裝|找到)"
    r"|找不到|缺失|缺少|检测不到|识别不(?:到|了)"
    r"|見つかり?ま?せん|見つからない|インストールされていない|未インストール|(?:認識|検出)(?:され|でき)(?:ない|ません)"
    r"|없음|없습니다|미설치|설치되지 않|찾을 수 없|(?:인식|감지)되지 않|인식 ?(?:안|불가)"
    r"|не (?:установлен|найден|обнаружен|видит|определ)\w*|отсутств\w+"
    r"|\bno (?:está |están |se (?:ha )?|fue )?(?:instalad|encontr|detect|reconoc)\w+|\bfalta\w*\b"
    r"|\bnicht (?:installiert|gefunden|erkannt)|\bfehl(?:t|en)\b|\b(?:non|pas) (?:installé|trouvé|détecté|reconnu)\w*"
    r"|\bintrouvables?\b|\bmanquante?s?\b|\bnão (?:está |foi |é )?(?:instalad|encontrad|detectad|reconhecid)\w+"
    r"|\bnon (?:installat|trovat|rilevat)\w+|\bmancante\b|\bikke funnet\b|\bniet (?:gevonden|geïnstalleerd|herkend)"
)
ABSENT_BEFORE = (  # before what is missing
    r"\bno\b|\bmissing\b|\b(?:can(?:not|'t)|could(?: not|n't)|unable to|fail(?:ed|s) to) (?:find|locate|detect)\b"
    r"|未(?:安装|安裝|找到|检测到|识别)|没有?(?:安装|装|找到|检测到)|找不到|缺失|缺少|检测不到|识别不到"
    r"|\bfaltan?\b|\bsin\b|\bsans\b|\bohne\b|\bkeine?\b|(?<!\w)нет(?!\w)|отсутств\w+"
)
NO_COMMAND = (  # what shells say of a program that they do not know
    r": (?:[Nn]o such file|command not found|未找到命令|コマンドが見つかりません|명령을 찾을 수|команда не|orden no enc)"
    r"|: (?:commande introuvable|Kommando nicht|comando n)|is not recognized|不是内部或外部命令|不是內部或外部命令"
    r"|は、?内部コマンド|은\(는\) 내부|не является внутренней|no se reconoce como|ist entweder falsch"
    r"|n'est pas reconnu|não é reconhecido|non è riconosciuto|项识别为"
)
UNFIT = (
    r"\bmismatch\w*|\b(?:not|n't) match\b|\bincompatib\w+|\b(?:not|n't) compatible\b|\bconflict\w*"
    r"|不匹配|不兼容|不一致|不符|冲突|불일치|맞지 않|호환되지 않|충돌|不整合|合わない|互換性がない"
    r"|несовмест\w+|не совпада\w+|несоответств\w+"
    r"|\bincompatíve\w+|\binkompatib\w+|\bno (?:es |son )?(?:compatible|coincide)\w*|\bnicht kompatibel"
)
OLD = (
    r"\btoo old\b|\boutdated\b|\bout of date\b|\bobsolet\w+|(?:版本)?(?:过低|太低|过旧|太旧|過舊|過低|较低|老旧)"
    r"|너무 (?:낮|오래)\w*|오래된|古い|古すぎ|устаре\w+|слишком стар\w+"
    r"|\bdesactualizad\w+|\bdesatualizad\w+|\bdemasiado antigu\w+|\bveraltet\w*|\bobsolète\w*"
)
UNSUPPORTED = (
    r"\b(?:not|n't)(?: \w+){0,2} support\w*|\bunsupported\b|\bincompatible\b|\b(?:not|n't) compatible\b"
    r"|不支持|不兼容|不支援|지원하지|지원되지|미지원|비호환|非対応|未対応|サポートされ|не поддержива\w+"
    r"|\bno (?:es |está )?(?:compatible|soportad)\w*|\bnicht unterstützt|\bnão (?:é )?suportad\w+"
)
NO_LONGER = r"\bno longer support\w*|\b(?:not|n't) support\w* any ?more\b|不再支持|もうサポート|더 이상 지원"
