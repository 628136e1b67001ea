import type { AuthForm } from './schema.ts'

/** A cloud whose credentials from the environment of the gateway some backends use without an `auth` policy. */
export type ImpliedCloud = 'cloudOne' | 'cloudTwo' | 'cloudThree'

const FORMS: Readonly<Record<ImpliedCloud, AuthForm>> = {
  cloudOne: { cloudOne: {}, implied: true },
  cloudTwo: { cloudTwo: {}, implied: true },
  cloudThree: { cloudThree: { type: 'AccessToken' }, implied: true },
}

/** What `backend.auth` does for such a backend. */
export function impliedAuth(cloud: ImpliedCloud): AuthForm {
  return FORMS[cloud]
}
