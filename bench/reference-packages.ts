import { createRequire } from 'node:module'

/** How the peers come: they are no dependencies of the project, for their number and their licences. */
export const INSTALL_COMMAND = 'npm install --prefix bench/peers --ignore-scripts'

const requireReference = createRequire(new URL('./peers/package.json', import.meta.url))

/** Another router, or null where it is not installed. Its types are not there either: who calls says what he uses of it. */
export function loadReferencePackage<T>(name: string): T | null {
  try {
    return requireReference(name) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}
