import type { Steps } from '#base/in-slices.ts'
import type { JsonChildren, JsonValue } from '../json/json-document.ts'

/** Elements between two yields: a fraction of a millisecond, also if nothing has been compiled yet. */
const ELEMENTS_PER_STEP = 256

/**
 * The loops over messages, parts and tools of one request. It may have 100,000, and requests of other clients wait for the work between two
 * yields. Functions that read or write a part cannot all be generators, because that would make short requests a third slower. So a loop runs
 * at once as far as the work of a step goes, and the rest of it waits until `rest` is called. What follows a loop, and needs all of it, is
 * passed to `after`.
 */
export class Loops {
  #left = ELEMENTS_PER_STEP
  /** In the order in which they must run; a list if there are any. */
  #waiting: (() => void)[] | undefined

  /** Whether `rest` must be called. Most requests are read and written without. */
  get areWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** @param weigh how many elements an element is worth; 1 by default */
  each<Element>(list: readonly Element[], run: (element: Element) => void, weigh?: (element: Element) => number): void {
    this.#eachFrom(0, list, run, weigh)
  }

  #eachFrom<Element>(
    from: number,
    list: readonly Element[],
    run: (element: Element) => void,
    weigh: ((element: Element) => number) | undefined,
  ): void {
    let at = from
    while (at < list.length && this.#mayRun) {
      const element = list[at++]!
      this.#left -= weigh === undefined ? 1 : weigh(element)
      run(element)
    }
    if (at < list.length) this.#wait(() => this.#eachFrom(at, list, run, weigh))
  }

  /** The same for a list of the body; none if it is absent. */
  eachOf(list: JsonValue | undefined, run: (element: JsonValue) => void): void {
    if (list !== undefined) this.#eachChild(list.children(), run)
  }

  #eachChild(children: JsonChildren, run: (element: JsonValue) => void): void {
    while (this.#mayRun) {
      const child = children.next()
      if (child === undefined) return
      this.#left--
      run(child)
    }
    this.#wait(() => this.#eachChild(children, run))
  }

  /** Runs after all loops that began before. */
  after(run: () => void): void {
    if (this.#waiting === undefined) run()
    else this.#waiting.push(run)
  }

  /** Elements of a loop wait for the loops that began inside of the element before. */
  get #mayRun(): boolean {
    return this.#left > 0 && this.#waiting === undefined
  }

  #wait(run: () => void): void {
    this.#waiting ??= []
    this.#waiting.push(run)
  }

  /** Runs what waits. */
  *rest(): Steps<void> {
    for (let runs = this.#waiting; runs !== undefined; runs = this.#waiting) {
      yield
      this.#left = ELEMENTS_PER_STEP
      this.#waiting = undefined
      let at = 0
      while (at < runs.length && !this.areWaiting) runs[at++]!()
      for (const run of runs.slice(at)) this.#wait(run)
    }
  }
}
