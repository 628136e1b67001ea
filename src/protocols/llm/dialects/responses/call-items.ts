import type { ResponseCustomToolCall, ResponseFunctionToolCall } from 'openai/resources/responses/responses'
import { TextInput } from '../../chat/text-input.ts'
import type { ItemPlace, OutputItem } from './output-item.ts'

/** A call of a tool, as the provider identifies it. */
interface Called {
  readonly callId: string
  readonly name: string
}

/** A call of a tool that takes an object. */
export class FunctionCallItem implements OutputItem {
  readonly #place: ItemPlace
  readonly #called: Called
  readonly #pieces: string[] = []
  readonly #delta: ((text: string) => void) | undefined

  constructor(place: ItemPlace, called: Called) {
    this.#place = place
    this.#called = called
    const item = this.write('in_progress')
    place.events?.emit({ type: 'response.output_item.added', output_index: place.index, item })
    this.#delta = place.events?.deltas({ type: 'response.function_call_arguments.delta', ...this.#about })
  }

  arguments(text: string): void {
    this.#pieces.push(text)
    this.#delta?.(text)
  }

  finish(): void {
    if (this.#pieces.length === 0) this.arguments('{}')
    const given = this.#pieces.join('')
    this.#place.events?.emit({ type: 'response.function_call_arguments.done', ...this.#about, arguments: given })
  }

  write(status: 'in_progress' | 'completed' | 'incomplete'): ResponseFunctionToolCall {
    const { callId, name } = this.#called
    return {
      id: this.#place.id,
      type: 'function_call',
      status,
      arguments: this.#pieces.join(''),
      call_id: callId,
      name,
    }
  }

  get #about() {
    return { item_id: this.#place.id, output_index: this.#place.index }
  }
}

/** A call of a tool that takes a text. */
export class CustomCallItem implements OutputItem {
  readonly #place: ItemPlace
  readonly #called: Called
  readonly #input = new TextInput()
  readonly #pieces: string[] = []
  readonly #delta: ((text: string) => void) | undefined

  constructor(place: ItemPlace, called: Called) {
    this.#place = place
    this.#called = called
    place.events?.emit({ type: 'response.output_item.added', output_index: place.index, item: this.write() })
    this.#delta = place.events?.deltas({ type: 'response.custom_tool_call_input.delta', ...this.#about })
  }

  arguments(text: string): void {
    this.#add(this.#input.read(text))
  }

  finish(): void {
    this.#add(this.#input.end())
    const input = this.#pieces.join('')
    this.#place.events?.emit({ type: 'response.custom_tool_call_input.done', ...this.#about, input })
  }

  write(): ResponseCustomToolCall {
    const { callId, name } = this.#called
    return { id: this.#place.id, type: 'custom_tool_call', call_id: callId, input: this.#pieces.join(''), name }
  }

  #add(text: string): void {
    if (text === '') return
    this.#pieces.push(text)
    this.#delta?.(text)
  }

  get #about() {
    return { item_id: this.#place.id, output_index: this.#place.index }
  }
}
