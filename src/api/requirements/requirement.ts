/**
 * The subject of a statement, which decides what proves it.
 *
 * - `shape`: which objects are valid. A test that validates objects is enough.
 * - `behaviour`: what happens, defaults included. A test has to run the code that does it.
 * - `advice`: advice to readers. A page of `docs/` gives it, and no test can prove it.
 */
export type RequirementKind = 'shape' | 'behaviour' | 'advice'

/** One statement of the specification, in our words: one thing that can be proved. */
export interface Requirement {
  readonly kind: RequirementKind
  /** The document of the specification. */
  readonly document: 1 | 2
  /** The number of the section in that document, such as `2.3.1`. */
  readonly section: string
  readonly text: string
  /** Nothing proves it yet, and we know. */
  readonly gap: boolean
}

type State = (document: 1 | 2, section: string, text: string) => Requirement

/** States what is proved; `gap` states what nothing proves yet. */
interface Statement extends State {
  readonly gap: State
}

export const shape = statementOf('shape')
export const behaviour = statementOf('behaviour')
export const advice = statementOf('advice')

function statementOf(kind: RequirementKind): Statement {
  const proved: State = (document, section, text) => ({ kind, document, section, text, gap: false })
  return Object.assign(proved, {
    gap: (document: 1 | 2, section: string, text: string) => ({ ...proved(document, section, text), gap: true }),
  })
}
