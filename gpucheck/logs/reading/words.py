"""What people and shells write of a thing that is not supported or not there, in the usual languages."""


def ascii_words(pattern: str) -> str:
    """The pattern with every word boundary between a Latin letter or digit and anything else, and no word without an end."""
    bounded = pattern.replace(r"\w+", r"\w{1,24}").replace(r"\w*", r"\w{0,24}")
    return bounded.replace(r"\b", r"(?a:\b)")


NO_COMMAND = (  # what shells say of a program that they do not know
    r": (?:[Nn]o such file|command not found|未找到命令|コマンドが見つかりません|명령을 찾을 수|команда не|orden no enc)"
    r"|: (?:commande introuvable|Kommando nicht|comando n)|is not recognized|不是内部或外部命令|不是內部或外部命令"
    r"|は、?内部コマンド|은\(는\) 내부|не является внутренней|no se reconoce como|ist entweder falsch"
    r"|n'est pas reconnu|não é reconhecido|non è riconosciuto|项识别为"
)
UNSUPPORTED = (
    r"\b(?:not|n't)(?: \w+){0,2} support\w*|\bunsupported\b|\bincompatible\b|\b(?:not|n't) compatible\b"
    r"|不支持|不兼容|不支援|지원하지|지원되지|미지원|비호환|非対応|未対応|サポートされ|не поддержива\w+"
    r"|\bno (?:es |está )?(?:compatible|soportad)\w*|\bnicht unterstützt|\bnão (?:é )?suportad\w+"
)
