import type { ServerKeys } from './verifying-server.ts'

/** The keys of a test account, and the token of a caller. */
export const ACCOUNT = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'FwoGZXIvYXdzEXAMPLE//////token==',
} as const satisfies Omit<ServerKeys, 'service' | 'region'>

/** The keys as the environment of a gateway. */
export const ACCOUNT_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: ACCOUNT.accessKeyId,
  AWS_SECRET_ACCESS_KEY: ACCOUNT.secretAccessKey,
  AWS_SESSION_TOKEN: ACCOUNT.sessionToken,
}

/** The keys as a Secret `keys`. */
export const accountYaml = `
apiVersion: v1
kind: Secret
metadata: { name: keys }
stringData: { accessKey: ${ACCOUNT.accessKeyId}, secretKey: "${ACCOUNT.secretAccessKey}", sessionToken: "${ACCOUNT.sessionToken}" }
`

/** A Secret `callers` with the API key of one caller. */
export const callersYaml = (key: string) => `
apiVersion: v1
kind: Secret
metadata: { name: callers }
stringData: { ann: ${key} }
`
