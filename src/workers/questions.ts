import { clock } from '#base/clock.ts'
import type { DecisionRecord, NewRecords } from '#observe/decision-ring.ts'
import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import type { ListeningSocket } from '#plan/socket.ts'

/** What an operator can ask workers, with an item of the answer. */
export interface Answers {
  readonly records: DecisionRecord
  readonly newRecords: NewRecords
  readonly sessions: McpSessionReport
  readonly sockets: ListeningSocket
}

export type Question = {
  readonly [About in keyof Answers]: {
    readonly kind: 'ask'
    readonly about: About
    readonly question: number
    /** For `newRecords`: the number of decisions up to the ones that are wanted. */
    readonly after: number
  }
}[keyof Answers]

export type QuestionAnswer = {
  readonly [About in keyof Answers]: {
    readonly kind: 'answer'
    readonly about: About
    readonly question: number
    readonly items: readonly Answers[About][]
  }
}[keyof Answers]

/** The answers of all workers that responded in time. */
export interface Gathered<Item> {
  readonly items: readonly Item[]
  /** Names of the workers that did not respond. */
  readonly unanswered: readonly string[]
}

interface Asked {
  readonly name: string
  readonly after?: number
  readonly send: (question: Question) => void
}

/** A worker that was asked; `undefined`: it did not respond in time. */
interface OpenQuestion {
  readonly worker: string
  readonly answer: (items: QuestionAnswer['items'] | undefined) => void
}

/** Questions of operators to workers. */
export class Questions {
  readonly #answerMs: number
  readonly #open = new Map<number, OpenQuestion>()
  #next = 1

  /** @param answerMs time limit of a worker */
  constructor(answerMs: number) {
    this.#answerMs = answerMs
  }

  async ask<About extends keyof Answers>(about: About, workers: readonly Asked[]): Promise<Gathered<Answers[About]>> {
    const answers = await Promise.all(workers.map((worker) => this.#ask(about, worker)))
    return {
      // `answered` gets the items that belong to the question.
      items: answers.flatMap((items) => (items ?? []) as readonly Answers[About][]),
      unanswered: workers.filter((_, i) => answers[i] === undefined).map(({ name }) => name),
    }
  }

  answered({ question, items }: QuestionAnswer): void {
    this.#open.get(question)?.answer(items)
  }

  /** What an ended worker knew is lost. */
  forget(worker: string): void {
    for (const open of this.#open.values()) if (open.worker === worker) open.answer([])
  }

  #ask(about: keyof Answers, { name, after = 0, send }: Asked): Promise<QuestionAnswer['items'] | undefined> {
    const question = this.#next++
    return new Promise((resolve) => {
      const late = clock.after(this.#answerMs, () => answer(undefined))
      const answer: OpenQuestion['answer'] = (items) => {
        late.cancel()
        this.#open.delete(question)
        resolve(items)
      }
      this.#open.set(question, { worker: name, answer })
      send({ kind: 'ask', about, question, after })
    })
  }
}
