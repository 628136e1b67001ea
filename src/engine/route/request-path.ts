import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { isAmbiguous, matchedPath, normalPath, otherReadings, pathFault } from '#net/http/path-form.ts'
import type { RouteMatch } from '#plan/item.ts'

/** The parts of a request target that routes compare. */
export interface RoutedPath {
  /** The matched form (net/http/path-form.ts). */
  readonly matched: string
  /** Includes the `?`; empty without a query. */
  readonly query: string
}

const SLASH = 0x2f
const QUESTION = 0x3f

/** The first character that ends the path of a target, or that may have other spellings. */
const END_OR_MARK = /[?%\\;]|\/[/.]/

const NONE: readonly string[] = []

/**
 * Parses and normalises the path of a request (decision A-51). Policies may change the target, so every user reads it again; this is free
 * while the text is the same.
 */
export class RequestPath implements RoutedPath {
  #matched = ''
  #ambiguous = false
  /** The target after normalisation. */
  #target = ''
  /** Index of the `?`; -1 if there is none. */
  #mark = -1

  get matched(): string {
    return this.#matched
  }

  /** Servers may normalise it to another path: see `otherReadings`. */
  get ambiguous(): boolean {
    return this.#ambiguous
  }

  get query(): string {
    return this.#mark < 0 ? '' : this.#target.slice(this.#mark)
  }

  /**
   * Parses the target of a request and normalises its path. Refuses paths that are invalid for any configuration, and CONNECT, which no
   * route can match.
   */
  read(exchange: Exchange): Refusal | undefined {
    const { request } = exchange
    if (request.method === 'CONNECT') return reject('method-not-allowed')
    const { target } = request
    if (target === this.#target) return undefined
    const first = target.charCodeAt(0) === SLASH ? target.search(END_OR_MARK) : 0
    if (first >= 0 && target.charCodeAt(first) !== QUESTION) return this.#readClosely(exchange, target)
    this.#target = target
    this.#mark = first
    this.#matched = first < 0 ? target : target.slice(0, first)
    this.#ambiguous = false
    return undefined
  }

  /**
   * The paths that servers may normalise this path to, other than the matched form.
   * @param match of the rule; if it includes parameters (`;`), the backend is assumed to keep them
   */
  otherReadings(match: RouteMatch | undefined): readonly string[] {
    if (!this.#ambiguous) return NONE
    const path = this.#mark < 0 ? this.#target : this.#target.slice(0, this.#mark)
    return otherReadings(path, match?.path.value.includes(';') ?? false)
  }

  #readClosely({ request, originalTarget }: Exchange, target: string): Refusal | undefined {
    this.#target = ''
    this.#mark = -1
    this.#matched = target
    this.#ambiguous = false
    if (target.charCodeAt(0) !== SLASH) {
      // `*` is valid only for OPTIONS (RFC 9112, 3.2.4).
      return target === '*' && request.method === 'OPTIONS' ? undefined : reject('path-invalid')
    }
    const mark = target.indexOf('?')
    const path = mark < 0 ? target : target.slice(0, mark)
    const fault = pathFault(path)
    if (fault !== undefined) {
      const origin = target === originalTarget ? 'the path' : 'the path set by policies'
      return reject('path-invalid', { detail: `${origin} has ${fault}` })
    }
    const normal = normalPath(path)
    this.#target = mark < 0 ? normal : normal + target.slice(mark)
    this.#mark = mark < 0 ? -1 : normal.length
    this.#matched = matchedPath(normal)
    this.#ambiguous = isAmbiguous(normal)
    if (normal !== path) request.target = this.#target
    return undefined
  }
}
