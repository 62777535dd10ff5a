import { createRequire } from 'node:module'

/** Installs the routers to compare with. They are not dependencies of the project because of their number and their licences. */
export const INSTALL_COMMAND = 'npm install --prefix bench/peers --ignore-scripts'

const requireReference = createRequire(new URL('./peers/package.json', import.meta.url))

/** Loads a package of bench/peers, or returns null if it is not installed. The caller declares the types it uses. */
export function loadReferencePackage<T>(name: string): T | null {
  try {
    return requireReference(name) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}
