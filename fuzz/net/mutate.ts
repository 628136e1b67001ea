/** Text on which HTTP parsers disagree. */
const SPICES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  '\u000b',
  '\u000c',
  '\u0085',
  '\u00a0',
  '\u007f',
  '\u00ff',
  ':',
  ';',
  ',',
  '"',
  '#',
  '\\',
  '0',
  '1',
  '+',
  '-',
  '0x',
  '0\r\n\r\n',
  '1\r\na\r\n',
  ';a=b',
  ';\n',
  'chunked',
  'Content-Length: 0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length : 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Transfer-Encoding: , chunked\r\n',
  'Connection: close\r\n',
  'Connection: content-length\r\n',
  'Connection: upgrade\r\nUpgrade: x\r\n',
  'Expect: 100-continue\r\n',
  'Host: y\r\n',
  'X: y\r\n',
  ' folded\r\n',
  'GET /s HTTP/1.1\r\nHost: x\r\n\r\n',
  'HTTP/1.0',
  'HTTP/1.2',
]

/** A random number generator, deterministic for a seed (mulberry32). @returns numbers in [0, 1) */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A random piece of text on which HTTP parsers disagree. */
export function spice(random: () => number): string {
  return SPICES[Math.floor(random() * SPICES.length)]!
}

/** `text` with one to four small changes. */
export function mutate(text: string, random: () => number): string {
  const changes = 1 + Math.floor(random() * 4)
  for (let i = 0; i < changes; i++) text = change(text, random)
  return text
}

/** Splits `text` at random positions, as a network would. */
export function cutAnywhere(text: string, random: () => number): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest !== '' && random() < 0.5) {
    const at = 1 + Math.floor(random() * rest.length)
    pieces.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  if (rest !== '') pieces.push(rest)
  return pieces
}

function change(text: string, random: () => number): string {
  const below = (limit: number) => Math.floor(random() * limit)
  const at = below(text.length + 1)
  const end = Math.min(text.length, at + 1 + below(12))
  const added = spice(random)
  switch (below(7)) {
    case 0:
      return text.slice(0, at) + added + text.slice(at)
    case 1:
      return text.slice(0, at) + added + text.slice(end)
    case 2:
      return text.slice(0, at) + text.slice(end)
    case 3:
      return text.slice(0, end) + text.slice(at)
    case 4:
      return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1)
    case 5:
      return insertLine(text, added, random)
    default:
      return swapLines(text, random)
  }
}

function insertLine(text: string, line: string, random: () => number): string {
  const lines = text.split('\r\n')
  lines.splice(Math.floor(random() * lines.length), 0, line.replace(/\r\n$/, ''))
  return lines.join('\r\n')
}

function swapLines(text: string, random: () => number): string {
  const lines = text.split('\r\n')
  const one = Math.floor(random() * lines.length)
  const other = Math.floor(random() * lines.length)
  ;[lines[one], lines[other]] = [lines[other]!, lines[one]!]
  return lines.join('\r\n')
}
