import { ask, failed } from './ask.ts'
import { anywhere, member } from './json-shape.ts'
import type { GuardService, ServiceVerdict } from './service.ts'
import { splitText } from './split-text.ts'

/** Most text of one call. */
const MAX_LENGTH = 8000

export interface TemplateSettings {
  /** Key of the backend. */
  readonly destination: string
  readonly projectId: string
  readonly location: string
  readonly templateId: string
}

/** Guardrails service two: it passes or rejects, and never masks (decision B56). */
export function guardrailsServiceTwo({ destination, projectId, location, templateId }: TemplateSettings): GuardService {
  const path = `/v1/${['projects', projectId, 'locations', location, 'templates', templateId].map(encodeURIComponent).join('/')}`
  return {
    kind: 'guardrailsServiceTwo',
    masks: false,
    async judge({ phase, messages }, around): Promise<ServiceVerdict> {
      const text = messages.map(({ content }) => content).join('\n')
      let verdict: ServiceVerdict = { kind: 'pass' }
      for (const part of splitText(text, MAX_LENGTH)) {
        const isRequest = phase === 'request'
        const body = { [isRequest ? 'userPromptData' : 'modelResponseData']: { text: part } }
        const method = isRequest ? 'sanitizeUserPrompt' : 'sanitizeModelResponse'
        verdict = await ask({ destination, path: `${path}:${method}`, body }, around, read)
        if (verdict.kind !== 'pass') break
      }
      return verdict
    },
  }
}

/** The verdict of all filters, and that of each: they contradict each other in the service's own samples. */
function read(json: unknown): ServiceVerdict {
  const result = member(json, 'sanitizationResult')
  if (typeof result !== 'object' || result === null) return failed('the answer of the service has no verdict')
  const isFound = (state: unknown) => state === 'MATCH_FOUND'
  if (isFound(member(result, 'filterMatchState')) || anywhere(result, 'matchState', isFound)) return { kind: 'reject' }
  if (member(result, 'invocationResult') !== 'SUCCESS') return failed('the service could not run all of its filters')
  return { kind: 'pass' }
}
