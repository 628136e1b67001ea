import type { ListedModel } from './listed-model.ts'

/** The list in the form of the chat API, which has no pages. */
export function writeChatList(models: readonly ListedModel[], nowMs: number): string {
  return JSON.stringify({ object: 'list', data: models.map((model) => chatModel(model, nowMs)) })
}

export function writeChatModel(model: ListedModel, nowMs: number): string {
  return JSON.stringify(chatModel(model, nowMs))
}

function chatModel({ id, owner, createdMs }: ListedModel, nowMs: number): object {
  return { id, object: 'model', created: Math.floor((createdMs ?? nowMs) / 1000), owned_by: owner }
}

/**
 * The list in the form of the messages API: the page that a query asks for, or, without `limit`, all models.
 * @param query parameters of the request, without `?`
 */
export function writeMessagesList(models: readonly ListedModel[], query: string, nowMs: number): string {
  const { page, hasMore } = pageOf(models, new URLSearchParams(query))
  const data = page.map((model) => messagesModel(model, nowMs))
  return JSON.stringify({ data, has_more: hasMore, first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null })
}

export function writeMessagesModel(model: ListedModel, nowMs: number): string {
  return JSON.stringify(messagesModel(model, nowMs))
}

function messagesModel({ id, name, createdMs }: ListedModel, nowMs: number): object {
  return { type: 'model', id, display_name: name, created_at: new Date(createdMs ?? nowMs).toISOString() }
}

interface Page {
  readonly page: readonly ListedModel[]
  readonly hasMore: boolean
}

/** Models after `after_id`, or the last ones before `before_id`. Of a model that is not listed any more, the list is as without it. */
function pageOf(models: readonly ListedModel[], query: URLSearchParams): Page {
  const limit = limitIn(query) ?? models.length
  const find = (name: string) => models.findIndex(({ id }) => id === query.get(name))
  const before = find('before_id')
  if (before >= 0) {
    const start = Math.max(0, before - limit)
    return { page: models.slice(start, before), hasMore: start > 0 }
  }
  const start = find('after_id') + 1
  return { page: models.slice(start, start + limit), hasMore: start + limit < models.length }
}

function limitIn(query: URLSearchParams): number | undefined {
  const limit = query.get('limit')
  return limit !== null && /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : undefined
}
