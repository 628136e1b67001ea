/** Why a credential could not be obtained, for operators; without secrets. */
export class CredentialError extends Error {}
