import { type TextNode, textOf } from '../json/text-tree.ts'

/** A string in the body. */
export type MaskableText = Extract<TextNode, { kind: 'string' }>
type ObjectNode = Extract<TextNode, { kind: 'object' }>

/** The texts of a request that guards check (decision B43). */
export interface PromptTexts {
  readonly bytes: Uint8Array
  /** Texts that the model reads. The parts of a run are adjacent and are also checked joined. */
  readonly runs: (readonly MaskableText[])[]
  /** Arguments of tool calls, and signed thoughts: checked, but never changed. */
  readonly fixed: MaskableText[]
}

/** Text of a part or block, in any format. */
const TEXT: ReadonlySet<string> = new Set(['text', 'refusal', 'title', 'context'])
/** Members with nested content: of messages, tool results, documents, search results. */
const CONTENT: ReadonlySet<string> = new Set(['content', 'output'])
/** Arguments of tool calls, as text or as JSON, and thoughts, which may be signed. */
const FIXED: ReadonlySet<string> = new Set(['arguments', 'input', 'thinking'])
/** Members that contain arguments of tool calls. */
const AROUND_FIXED: ReadonlySet<string> = new Set(['tool_calls', 'function', 'function_call', 'custom'])

/** Collects the texts of one prompt member: a text, a list of texts, of messages or of parts. */
export function collectTexts(value: TextNode, into: PromptTexts): void {
  if (value.kind === 'string') into.runs.push([value])
  else if (value.kind === 'object') collectObject(value, into)
  else if (value.kind === 'array') collectList(value.items, into)
}

/** Adjacent parts with text form a run; any other part ends it. */
function collectList(items: readonly TextNode[], into: PromptTexts): void {
  let run: MaskableText[] = []
  const endRun = () => {
    if (run.length > 0) into.runs.push(run)
    run = []
  }
  for (const item of items) {
    const own = item.kind === 'object' ? ownTexts(item) : []
    if (own.length === 0) endRun()
    run.push(...own)
    if (item.kind === 'object') collectNested(item, into)
    else collectTexts(item, into)
  }
  endRun()
}

function collectObject(node: ObjectNode, into: PromptTexts): void {
  for (const text of ownTexts(node)) into.runs.push([text])
  collectNested(node, into)
}

function ownTexts(node: ObjectNode): MaskableText[] {
  const texts: MaskableText[] = []
  for (const [key, value] of node.members) if (TEXT.has(key) && value.kind === 'string') texts.push(value)
  return texts
}

function collectNested(node: ObjectNode, into: PromptTexts): void {
  for (const [key, value] of node.members) {
    if (CONTENT.has(key) || AROUND_FIXED.has(key)) collectTexts(value, into)
    else if (FIXED.has(key)) collectFixed(value, into)
    else if (key === 'source' && value.kind === 'object') collectSource(value, into)
  }
}

/** A document: plain text in `data`, or content. */
function collectSource(source: ObjectNode, into: PromptTexts): void {
  const isText = source.members.some(
    ([key, value]) => key === 'type' && value.kind === 'string' && textOf(into.bytes, value) === 'text',
  )
  for (const [key, value] of source.members) {
    if (key === 'content' || (key === 'data' && isText)) collectTexts(value, into)
  }
}

function collectFixed(value: TextNode, into: PromptTexts): void {
  if (value.kind === 'string') into.fixed.push(value)
  else if (value.kind === 'array') for (const item of value.items) collectFixed(item, into)
  else if (value.kind === 'object') for (const [, member] of value.members) collectFixed(member, into)
}
