/** A user to create. */
export interface IdpUser {
  readonly username: string
  readonly password: string
  /** The user is free to have another password: if the user exists, it stays. */
  readonly isPasswordGenerated: boolean
  readonly group: string
}
