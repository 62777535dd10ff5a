import { writeFileSync } from 'node:fs'
import { compile } from './compile.ts'

export const generatedFile = new URL('../src/generated/tokens.json', import.meta.url)

/** Returns the contents of `generated/tokens.json`: the creation code of the listed tokens. */
export function compileTokens(): string {
  const { ListedToken, TetherToken } = compile(['ListedToken', 'TetherToken'])
  const creationCode = { ListedToken: ListedToken.creation, TetherToken: TetherToken.creation }
  return `${JSON.stringify(creationCode, null, 2)}\n`
}

if (import.meta.main) writeFileSync(generatedFile, compileTokens())
