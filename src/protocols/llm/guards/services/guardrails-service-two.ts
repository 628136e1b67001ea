import { ask, failed } from './ask.ts'
import { anywhere, member } from './json-shape.ts'
import { judgeParts } from './judge-parts.ts'
import type { GuardService, ServiceVerdict } from './service.ts'
import { splitText } from './split-text.ts'

/** Most text of one call: filters skip a text of more than 10,000 tokens, and say so, which is a failure. */
const MAX_LENGTH = 8000
const OVERLAP = 256

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
    destination,
    masks: false,
    judge({ phase, messages }, around): Promise<ServiceVerdict> {
      const text = messages.map(({ content }) => content).join('\n')
      const [method, field] = QUESTIONS[phase]
      return judgeParts(splitText(text, MAX_LENGTH, OVERLAP), around, (part, within) =>
        ask({ destination, path: `${path}:${method}`, body: { [field]: { text: part } } }, within, read),
      )
    },
  }
}

const QUESTIONS = {
  request: ['sanitizeUserPrompt', 'userPromptData'],
  response: ['sanitizeModelResponse', 'modelResponseData'],
} as const

/**
 * The verdict of all filters, and that of each: they contradict each other in the service's own samples. A text passes only if the service
 * says that no filter matched, and that all of them ran.
 */
function read(json: unknown): ServiceVerdict {
  const result = member(json, 'sanitizationResult')
  if (typeof result !== 'object' || Array.isArray(result)) return failed('the answer of the service has no verdict')
  const matched = member(result, 'filterMatchState')
  if (matched === 'MATCH_FOUND' || anywhere(result, 'matchState', (state) => state === 'MATCH_FOUND')) {
    return { kind: 'reject' }
  }
  const isSkipped = anywhere(result, 'executionState', (state) => state !== 'EXECUTION_SUCCESS')
  if (isSkipped || member(result, 'invocationResult') !== 'SUCCESS') {
    return failed('the service could not run all of its filters')
  }
  return matched === 'NO_MATCH_FOUND' ? { kind: 'pass' } : failed('the answer of the service has no verdict')
}
