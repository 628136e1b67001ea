import { AUDIO_PER_TOKEN, estimateTokens } from '../tokens/estimate-tokens.ts'

/** More responses are never in progress. */
const MAX_RESPONSES = 16
/** Of a longer text, the rest is assumed to be like the beginning. */
const MAX_SAMPLE = 16_384

class Output {
  #sample = ''
  #length = 0
  #audio = 0

  addText(text: string): void {
    this.#length += text.length
    if (this.#sample.length < MAX_SAMPLE) this.#sample += text
  }

  addAudio(length: number): void {
    this.#audio += length
  }

  get tokens(): number {
    const sampled = this.#sample.length
    const text = sampled === 0 ? 0 : (estimateTokens(this.#sample) * this.#length) / sampled
    return Math.ceil(text + this.#audio / AUDIO_PER_TOKEN)
  }
}

/** The output of the responses of a session whose tokens the provider has not reported (decision B38). */
export class UnreportedOutput {
  readonly #byResponse = new Map<string, Output>()

  /** @param text of a piece of text, or of a call; undefined for audio of `length` characters in base64 */
  add(response: string, text: string | undefined, length: number): void {
    const output = this.#of(response)
    if (text === undefined) output.addAudio(length)
    else output.addText(text)
  }

  #of(response: string): Output {
    const key = this.#byResponse.has(response) || this.#byResponse.size < MAX_RESPONSES ? response : ''
    const known = this.#byResponse.get(key)
    if (known !== undefined) return known
    const output = new Output()
    this.#byResponse.set(key, output)
    return output
  }

  /** The provider has reported the tokens of a response. Output that was assigned to no response is taken as part of it. */
  reported(response: string): void {
    this.#byResponse.delete(response)
    this.#byResponse.delete('')
  }

  /** An estimate. */
  get tokens(): number {
    let tokens = 0
    for (const output of this.#byResponse.values()) tokens += output.tokens
    return tokens
  }
}
