import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Operator, PASSWORD } from '../admin/admin-server.ts'
import type { Answer, Shell } from './shell.ts'

/** Logs an operator in by the admin API; `env` names its server and the home folder that keeps the session. */
export function logInFrom(
  { folder, swapyard }: Shell,
  env: Record<string, string>,
  { login, code }: Pick<Operator, 'login' | 'code'>,
): Promise<Answer> {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, `${PASSWORD}\n`)
  return swapyard(['login', login, '--password-file', passwordFile, '--code', code()], env)
}
