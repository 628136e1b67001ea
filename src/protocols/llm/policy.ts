import { defineSetting } from '#policies/policy.ts'
import { compileAiSettings } from './compile-settings.ts'
import { backendAi } from './policy-schema.ts'

/** `backend.ai` (specification 2, 2.4). */
export const ai = defineSetting({
  section: 'backend',
  field: 'ai',
  schema: backendAi,
  merge: 'members',
  protects: ['promptGuard'],
  compile: compileAiSettings,
})
