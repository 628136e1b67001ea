import type { Steps } from '#base/in-slices.ts'
import { Loops } from '../../chat/loops.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeText } from '../../json/native.ts'

/** What the tokens of a request are estimated from. */
export interface CountablePrompt {
  readonly texts: readonly string[]
  /** Tokens of all that is no text. */
  readonly otherTokens: number
}

/** Around the prompt, and around each message. */
const PROMPT_TOKENS = 3
const MESSAGE_TOKENS = 4
/** An image at the size to which the models reduce larger ones. */
const IMAGE_TOKENS = 1600
/** A page of a document, as text and image; documents with this many bytes for each page are common. */
const PAGE_TOKENS = 2000
const PAGE_BYTES = 50_000

/**
 * Collects what a model reads of a messages request: system text, messages, tools. Blocks of an unknown type count as their JSON: a count
 * that is too low makes clients exceed the context of the model (decision B36).
 */
export function* readCountablePrompt(body: JsonValue): Steps<CountablePrompt> {
  const loops = new Loops()
  const prompt = new Prompt(loops)
  const system = body.get('system')
  if (system !== undefined) prompt.addMessage(system)
  loops.eachOf(listAt(body, 'messages'), (message) => {
    const content = message.get('content')
    if (content !== undefined) prompt.addMessage(content)
  })
  const tools = listAt(body, 'tools')
  if (tools?.children().next() !== undefined) loops.after(() => prompt.addJson(tools))
  if (loops.areWaiting) yield* loops.rest()
  return prompt
}

class Prompt implements CountablePrompt {
  readonly texts: string[] = []
  otherTokens = PROMPT_TOKENS
  readonly #loops: Loops

  constructor(loops: Loops) {
    this.#loops = loops
  }

  /** @param content a text, or blocks */
  addMessage(content: JsonValue): void {
    this.otherTokens += MESSAGE_TOKENS
    this.#addContent(content)
  }

  addJson(value: JsonValue | undefined): void {
    if (value === undefined) return
    const { json } = value
    this.texts.push(decodeText(json, 0, json.length))
  }

  #addContent(content: JsonValue | undefined): void {
    if (content?.kind !== 'array') return this.#addText(content)
    this.#loops.eachOf(content, (block) => this.#addBlock(block))
  }

  #addBlock(block: JsonValue): void {
    if (block.kind === 'string') return this.#addText(block)
    switch (textOf(block.get('type'))) {
      case 'text':
        return this.#addText(block.get('text'))
      case 'thinking':
        return this.#addText(block.get('thinking'))
      case 'redacted_thinking':
        return this.#addText(block.get('data'))
      case 'image':
        this.otherTokens += IMAGE_TOKENS
        return
      case 'document':
        return this.#addDocument(block)
      case 'tool_use':
        this.#addText(block.get('name'))
        return this.addJson(block.get('input'))
      case 'tool_result':
        return this.#addContent(block.get('content'))
      default:
        return this.addJson(block)
    }
  }

  #addText(value: JsonValue | undefined): void {
    if (value?.kind === 'string') this.texts.push(value.text)
    else this.addJson(value)
  }

  #addDocument(block: JsonValue): void {
    this.#addText(block.get('title'))
    this.#addText(block.get('context'))
    const source = block.get('source')
    const data = source?.get('data')
    const type = textOf(source?.get('type'))
    if (type === 'text') return this.#addText(data)
    if (type === 'content') return this.#addContent(source?.get('content'))
    const bytes = data === undefined ? 0 : (data.json.length * 3) / 4
    this.otherTokens += PAGE_TOKENS * Math.max(1, Math.ceil(bytes / PAGE_BYTES))
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return value?.kind === 'string' ? value.text : undefined
}

function listAt(value: JsonValue, name: string): JsonValue | undefined {
  const list = value.get(name)
  return list?.kind === 'array' ? list : undefined
}
