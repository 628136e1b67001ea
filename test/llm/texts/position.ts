import { readFileSync } from 'node:fs'

/**
 * A place of a string in a body, as `derive-positions.ts` writes it: `.messages[](role=user).content[](type=text).text`. `[]` is an element,
 * `{}` a member with any name, `{key}` that name itself, and brackets hold the members that tell the variants of an object apart.
 */
export type Position = string

export function readPositions(file: string): readonly Position[] {
  return readFileSync(new URL(`positions/${file}.txt`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
}

const STEP = /\.([^.[({]+)|\[\]|\{\}|\{key\}|\(([^)]*)\)/y

/** A body with a text at a position, and with nothing else but what the position needs. */
export function bodyWith(position: Position, text: string): unknown {
  STEP.lastIndex = 0
  return build(position, text)
}

function build(position: Position, text: string): unknown {
  if (position === '') return text
  STEP.lastIndex = 0
  const step = STEP.exec(position)
  if (step === null) throw new Error(`cannot read ${position}`)
  const inner = position.slice(STEP.lastIndex)
  if (step[1] !== undefined) return { [step[1]]: build(inner, text) }
  if (step[2] === undefined) {
    if (step[0] === '{key}') return { [text]: 1 }
    return step[0] === '[]' ? [build(inner, text)] : { any: build(inner, text) }
  }
  const variant = Object.fromEntries(step[2].split(',').map((each) => each.split('=')))
  return { ...variant, ...(build(inner, text) as object) }
}

/** The path of a position without its variants, as exemptions have it. */
export function pathOf(position: Position): string {
  return position
    .replace(/\([^)]*\)/g, '')
    .replaceAll('[]', '[0]')
    .replaceAll('{}', '.any')
    .replace(/^\./, '')
}
