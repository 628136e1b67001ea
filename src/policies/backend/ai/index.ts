import { defineSetting, type PolicySource } from '../../policy.ts'
import { type BackendAiSpec, backendAi } from './schema.ts'

/** Compiled together with its providers in `protocols/llm`; here it is only merged. */
export const ai = defineSetting({
  section: 'backend',
  field: 'ai',
  schema: backendAi,
  merge: 'members',
  compile: (sources: readonly PolicySource<BackendAiSpec>[]) => sources[0],
})
