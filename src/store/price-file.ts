import { readFileSync } from 'node:fs'
import { clock } from '#base/clock.ts'
import { readPriceFile } from '#models/price-file.ts'
import type { OwnPrices } from '#models/price-table.ts'
import { problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'
import { fileProblem } from './find-files.ts'
import type { StaleFile } from './loaded-file.ts'
import { Subscribers } from './subscribers.ts'
import { type Watch, watchPaths } from './watch-paths.ts'
import { positionOf, readPieces } from './yaml-pieces.ts'

export interface PriceFileOptions {
  /** Reload the file when it changes. */
  readonly watch?: boolean
  /** How long it must be unchanged before it is read again. */
  readonly quietMs?: number
  /** Polling interval where the platform cannot watch. */
  readonly pollMs?: number
}

/** The price file of the operator. While it has errors, its last valid prices are in force. */
export class PriceFile {
  readonly #path: string
  readonly #subscribers = new Subscribers()
  readonly #watch: Watch | undefined
  #text: string | undefined
  #own: readonly OwnPrices[] = []
  #isValid = false
  #problems: readonly FileProblem[] = []
  #staleSince: number | undefined

  constructor(path: string, { watch = false, quietMs = 100, pollMs = 2000 }: PriceFileOptions = {}) {
    this.#path = path
    this.#watch = watch ? watchPaths([path], () => this.reload(), { quietMs, pollMs }) : undefined
    this.reload()
  }

  /** The prices in force. */
  get own(): readonly OwnPrices[] {
    return this.#own
  }

  /** The problems of the current content. */
  get problems(): readonly FileProblem[] {
    return this.#problems
  }

  get stale(): readonly StaleFile[] {
    const since = this.#staleSince
    return since === undefined ? [] : [{ file: this.#path, since, objects: ['prices'], problems: this.#problems }]
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  /** Notifies subscribers if anything is different. */
  reload(): void {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (this.#text === undefined && this.#problems.length > 0) return
      this.#text = undefined
      return this.#take({ problems: [fileProblem(this.#path, error)] })
    }
    if (text === this.#text) return
    this.#text = text
    this.#take(parsePriceFile(this.#path, text))
  }

  close(): void {
    this.#watch?.close()
    this.#subscribers.clear()
  }

  #take({ own, problems }: ParsedPrices): void {
    this.#problems = problems
    if (own !== undefined) {
      this.#own = own
      this.#isValid = true
    }
    this.#staleSince = own !== undefined || !this.#isValid ? undefined : (this.#staleSince ?? clock.now())
    this.#subscribers.notify()
  }
}

interface ParsedPrices {
  readonly own?: readonly OwnPrices[]
  readonly problems: readonly FileProblem[]
}

function parsePriceFile(file: string, text: string): ParsedPrices {
  const { pieces, faults, lines } = readPieces(text)
  if (faults.length > 0) {
    return { problems: faults.map(({ message, ...at }) => ({ ...problem('', 'invalid-yaml', message), file, ...at })) }
  }
  const [piece, second] = pieces
  if (piece === undefined) return { problems: [{ ...problem('prices', 'required', 'is required'), file }] }
  if (second !== undefined) {
    const message = 'a price file is one document, without ---'
    return { problems: [{ ...problem('', 'inconsistent', message), file, line: second.line, column: second.column }] }
  }
  const { own, problems } = readPriceFile(piece.value)
  const placed = problems.map((each) => ({ ...each, file, ...positionOf(lines, piece, each.path) }))
  return own === undefined ? { problems: placed } : { own, problems: placed }
}
