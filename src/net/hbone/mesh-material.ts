/** What a member of a mesh shows to others, and what it trusts. It is a secret. */
export interface MeshMaterial {
  /** Its SPIFFE id. */
  readonly id: string
  /** Its certificate in PEM, then those that lead to a root. */
  readonly certificate: string
  /** The private key in PEM. */
  readonly key: string
  /** The root certificates of the mesh in PEM. */
  readonly roots: string
}
