import { systemWithProduct } from '#base/products.ts'
import { guardName } from '#exchange/guard-name.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'

// What a decision record says, in one line for people; '' if it says nothing about it.

/** What a model was asked, and which one answered. */
export function modelText({
  provider,
  requestModel,
  responseModel,
  translation,
}: Pick<DecisionRecord, 'provider' | 'requestModel' | 'responseModel' | 'translation'>): string {
  const models = [...new Set([requestModel, responseModel])].filter((name) => name !== '').join(' → ')
  const dialects = translation === undefined ? '' : `(${translation.from} → ${translation.to})`
  return [systemWithProduct(provider), models, dialects].filter((part) => part !== '').join(' ')
}

/** What an MCP client asked: `tools/call search at weather`. */
export function mcpText({ mcp }: Pick<DecisionRecord, 'mcp'>): string {
  if (mcp === undefined) return ''
  return [mcp.method, mcp.item, mcp.target && `at ${mcp.target}`].filter(Boolean).join(' ')
}

/** What the prompt guards found; checks that found nothing are only counted. */
export function guardText({ guardChecks }: Pick<DecisionRecord, 'guardChecks'>): string {
  const found = guardChecks.filter(({ verdict }) => verdict !== 'Allow')
  const allowed = guardChecks.length - found.length
  const parts = found.map((check) =>
    [guardName(check), check.kind, check.verdict, check.rule, check.detail]
      .filter((part) => part !== undefined)
      .join(' '),
  )
  if (allowed > 0) parts.push(`${allowed} ${allowed === 1 ? 'guard check' : 'guard checks'} allowed`)
  return parts.join(', ')
}

/** `1.25 ms`, `12 ms` */
export function millisecondsText(ms: number): string {
  return `${ms < 10 ? Math.round(ms * 100) / 100 : Math.round(ms)} ms`
}
