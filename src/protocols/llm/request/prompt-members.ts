import type { ClientFormat } from './route-type.ts'

export type PromptMember = 'system' | 'messages' | 'instructions' | 'input'

/** Members of a body with text for the model, in the order in which the model reads them. */
export const PROMPT_MEMBERS: Readonly<Record<ClientFormat | 'Detect', readonly PromptMember[]>> = {
  Completions: ['messages'],
  Messages: ['system', 'messages'],
  MessagesTokenCount: ['system', 'messages'],
  Responses: ['instructions', 'input'],
  Embeddings: ['input'],
  Detect: ['system', 'messages', 'instructions', 'input'],
}
