/** A command of a page, with what it prints. */
export interface GuideCommand {
  readonly kind: 'command'
  /** Several lines where each but the last ends with a backslash. */
  readonly text: string
  /** Without a line end behind the last line; `...` stands for anything. */
  readonly output: string
  /** The lines of the output on the page: from, and up to (exclusive). The first line has the index 0. */
  readonly outputLines: readonly [number, number]
  /** Whether the command is repeated until it prints this. */
  readonly isAwaited: boolean
}

interface GuideFile {
  readonly kind: 'file'
  readonly name: string
  readonly text: string
}

/** What a page of docs/guides tells its reader to do, and what its comments tell the test. CONTRIBUTING.md, "Guides", has the format. */
export interface GuidePage {
  /** In the order of the page. */
  readonly steps: readonly (GuideFile | GuideCommand)[]
  /** Texts of the page, and what takes their place in the test. */
  readonly replacements: readonly (readonly [shown: string, tested: string])[]
  /** Names of programs without which the commands do not work. */
  readonly needs: readonly string[]
}

const FENCE = /^```(\S*)\s*$/
const COMMENT = /^<!-- (.*) -->$/

/** @throws Error when a block of commands does not begin with a command */
export function readGuide(markdown: string): GuidePage {
  const lines = markdown.split('\n')
  const steps: (GuideFile | GuideCommand)[] = []
  const replacements: [string, string][] = []
  const needs: string[] = []
  // Comments since the last block.
  let comments: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const comment = COMMENT.exec(lines[at]!)?.[1]
    if (comment !== undefined) comments.push(comment)
    const [, shown, tested] = /^test: replace (\S+) by (\S+)$/.exec(comment ?? '') ?? []
    if (shown !== undefined) replacements.push([shown, tested!])
    const needed = /^needs: (.*)$/.exec(comment ?? '')?.[1]
    if (needed !== undefined) needs.push(...needed.split(/,\s*/))
    const language = FENCE.exec(lines[at]!)?.[1]
    if (language === undefined) continue
    const end = lines.indexOf('```', at + 1)
    if (end === -1) throw new Error(`the block of line ${at + 1} has no end`)
    const name = comments.map((one) => /^file: (\S+)$/.exec(one)?.[1]).find((one) => one !== undefined)
    if (language === 'console') steps.push(...commandsIn(lines, at + 1, end, comments.includes('eventually')))
    else if (name !== undefined) steps.push({ kind: 'file', name, text: `${lines.slice(at + 1, end).join('\n')}\n` })
    comments = []
    at = end
  }
  return { steps, replacements, needs }
}

function* commandsIn(lines: readonly string[], from: number, to: number, isAwaited: boolean): Generator<GuideCommand> {
  if (!lines[from]!.startsWith('$ ')) throw new Error(`line ${from + 1} is no command: ${lines[from]}`)
  for (let at = from; at < to; ) {
    const first = at
    while (lines[at]!.endsWith('\\') && at + 1 < to) at++
    const text = lines.slice(first, ++at).join('\n').slice('$ '.length)
    const begin = at
    while (at < to && !lines[at]!.startsWith('$ ')) at++
    yield {
      kind: 'command',
      text,
      output: lines.slice(begin, at).join('\n'),
      outputLines: [begin, at],
      isAwaited,
    }
  }
}

/** Whether a command printed what the page shows. A line `...` stands for any lines, `...` in a line for any text. Ends of lines may differ by blanks. */
export function isAsShown(shown: string, printed: string): boolean {
  const lines = trimmed(shown)
    .split('\n')
    .map((line) => (line.trim() === '...' ? '(?:.*\\n)*?' : `${pattern(line)} *\\n`))
  return new RegExp(`^${lines.join('')}$`).test(`${trimmed(printed)}\n`)
}

function pattern(line: string): string {
  return line
    .split('...')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')
}

function trimmed(text: string): string {
  return text.replaceAll(/[ \r]+$/gm, '').trimEnd()
}
