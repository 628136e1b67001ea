import type { AiPlan } from './ai-plan.ts'

/** A response of the gateway itself, with status 200 and type `application/json`. */
export interface LlmAnswer {
  readonly kind: 'llm-answer'
  readonly body: string
}

/**
 * Responds to the Models route (decision B07): the pinned models and the exact alias names of the backend's providers. Clients of the
 * messages API, identified by their version header, get its list format.
 */
export function listModels(plan: AiPlan, messagesForm: boolean, nowMs: number): LlmAnswer {
  const owners = new Map<string, string>()
  for (const { provider, settings } of plan.providers) {
    if (provider.pin !== undefined) owners.set(provider.pin, provider.system)
    for (const alias of settings.aliases?.exact.keys() ?? []) owners.set(alias, provider.system)
  }
  const names = [...owners.keys()].sort()
  return { kind: 'llm-answer', body: messagesForm ? messagesList(names, nowMs) : chatList(names, owners, nowMs) }
}

function chatList(names: readonly string[], owners: ReadonlyMap<string, string>, nowMs: number): string {
  const created = Math.floor(nowMs / 1000)
  const data = names.map((id) => ({ id, object: 'model', created, owned_by: owners.get(id) }))
  return JSON.stringify({ object: 'list', data })
}

function messagesList(names: readonly string[], nowMs: number): string {
  const created = new Date(nowMs).toISOString()
  const data = names.map((id) => ({ type: 'model', id, display_name: id, created_at: created }))
  return JSON.stringify({ data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null })
}
