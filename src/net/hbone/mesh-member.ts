import type { MeshMaterial } from './mesh-material.ts'

/** This gateway as a member of a mesh, for the tunnels of one thread. */
export interface MeshMember {
  /**
   * Replaced when the certificate is renewed. Undefined: the gateway is in no mesh, or has no certificate, or it has expired: no tunnel can be opened or accepted.
   */
  material: MeshMaterial | undefined
}
