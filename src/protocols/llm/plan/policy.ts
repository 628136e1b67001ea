import { defineSetting } from '#policies/policy.ts'
import { backendAi } from '../settings/policy-schema.ts'
import { compileAiSettings } from './compile-settings.ts'

/** `backend.ai` (specification 2, 2.4). */
export const ai = defineSetting({
  section: 'backend',
  field: 'ai',
  schema: backendAi,
  merge: 'members',
  protects: ['promptGuard'],
  compile: compileAiSettings,
})
