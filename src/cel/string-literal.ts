const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
}

const CODE = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y

type Report = (offset: number, message: string) => void

/** Decodes the content of a string literal. `\x` and octal escapes are code points. */
export function readStringLiteral(body: string, raw: boolean, report: Report): string {
  if (raw || !body.includes('\\')) return body
  let text = ''
  walkEscapes(body, report, (piece) => {
    text += typeof piece === 'string' ? piece : String.fromCodePoint(piece.code)
  })
  return text
}

/** Decodes the content of a bytes literal: text as UTF-8, `\x` and octal escapes as single bytes. */
export function readBytesLiteral(body: string, raw: boolean, report: Report): Uint8Array {
  const encoder = new TextEncoder()
  if (raw || !body.includes('\\')) return encoder.encode(body)
  const bytes: number[] = []
  walkEscapes(body, report, (piece) => {
    if (typeof piece === 'string') bytes.push(...encoder.encode(piece))
    else if (piece.isByte) bytes.push(piece.code)
    else bytes.push(...encoder.encode(String.fromCodePoint(piece.code)))
  })
  return Uint8Array.from(bytes)
}

interface EscapedCode {
  readonly code: number
  /** Written as `\x` or octal. */
  readonly isByte: boolean
}

function walkEscapes(body: string, report: Report, take: (piece: string | EscapedCode) => void): void {
  let at = 0
  while (at < body.length) {
    const backslash = body.indexOf('\\', at)
    const stop = backslash < 0 ? body.length : backslash
    if (stop > at) take(body.slice(at, stop))
    if (backslash < 0) return
    at = readEscape(body, backslash, report, take)
  }
}

function readEscape(body: string, at: number, report: Report, take: (piece: string | EscapedCode) => void): number {
  const simple = SIMPLE[body[at + 1] ?? '']
  if (simple !== undefined) {
    take(simple)
    return at + 2
  }
  CODE.lastIndex = at + 1
  const found = CODE.exec(body)
  if (found === null) {
    report(at, `unknown escape ${JSON.stringify(body.slice(at, at + 2))}`)
    return at + 2
  }
  const [whole, hex, short, long, octal] = found
  const code = Number.parseInt(hex ?? short ?? long ?? octal!, octal === undefined ? 16 : 8)
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) report(at, `not a Unicode code point: \\${whole}`)
  else take({ code, isByte: hex !== undefined || octal !== undefined })
  return at + 1 + whole.length
}
