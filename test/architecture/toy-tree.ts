import { law } from './law.ts'
import type * as rules from './rules.ts'

const long = (lines: number): string => 'note\n'.repeat(lines - 1).replace(/^|(?<=\n)(?=.)/g, '// ')

/** A small house in which every rule is broken, beside what looks like a fault and is none. */
export const toyTree: Readonly<Record<string, string>> = {
  'server/src/lib/assert.ts': 'export const assert = (x: unknown) => x\n',
  'server/src/lib/utils.ts': "import type { Amount } from '../domain/amount.ts'\nexport type A = Amount\n",
  'server/src/domain/amount.ts':
    "import { assert } from '../lib/assert.ts'\nexport type Amount = { text: string }\nexport const units = assert(Number('1'))\nexport const five = BigInt(5) + -1n\n",
  'server/src/domain/Price.ts': 'export default 1\n',
  'server/src/services/quote.ts':
    "import { scan } from '../adapters/evm/scan.ts'\nexport function processData() {\n  return scan\n}\n",
  'server/src/services/first.ts': "import './second.ts'\n",
  'server/src/services/second.ts': "export type { X } from './third.ts'\n",
  'server/src/services/third.ts': "export type X = import('./first.ts').X\n",
  'server/src/adapters/evm/scan.ts':
    "import { parse } from './parse.ts'\nimport { createPublicClient } from 'viem'\nexport const scan = [parse, createPublicClient]\n",
  'server/src/adapters/evm/parse.ts': `export const parse = () => {\n${long(71)}}\n`,
  'server/src/adapters/bitcoin/scan.ts':
    "import { scan } from '../evm/scan.ts'\nimport { getAddress } from 'viem/utils'\nconst late = await import('left-pad')\nexport const all = [scan, getAddress, late, process.env['HOME'], (1.5).toFixed(2)]\n",
  'server/src/api/app.ts':
    "import '../../../sandbox/src/main.ts'\nimport fs from 'node:fs'\nimport { env } from 'node:process'\nexport const database = [fs, env]\n",
  'server/src/elsewhere/room.ts': 'export {}\n',
  'server/src/workers/watch.ts': "import '../services/gone.ts'\n",
  'server/src/main.ts': `import './api/app.ts'\n${long(401)}`,
  'server/networks/eth.ts': `import '../src/domain/amount.ts'\n${long(500)}`,
  'sandbox/src/settings.ts': 'export const home = process.env.HOME\n',
  'sandbox/src/main.ts': "import './settings.ts'\n",
}

export const toyLaw = {
  ...law,
  homes: { viem: ['server/src/adapters/evm'], fastify: ['server/src/api'] },
  numbers: { 'server/src/domain/amount.ts': 'a toy', 'server/src/lib/assert.ts': 'a toy that makes none' },
}

export const toyFaults: Readonly<Record<keyof typeof rules, readonly string[]>> = {
  importsGoDown: [
    'server/src/lib/utils.ts:1 (floor 0, lib) → server/src/domain/amount.ts (floor 1, domain)',
    'server/src/services/quote.ts:1 (floor 3, services) → server/src/adapters/evm/scan.ts (floor 3, adapters/evm)',
    'server/src/adapters/bitcoin/scan.ts:1 (floor 3, adapters/bitcoin) → server/src/adapters/evm/scan.ts (floor 3, adapters/evm)',
    'server/src/api/app.ts:1 (floor 4, api) → sandbox/src/main.ts (floor 0, sandbox)',
    'server/src/elsewhere/room.ts is in no room of the house',
    'server/src/workers/watch.ts:1 → server/src/services/gone.ts, which is not there',
  ],
  librariesStayHome: [
    'server/src/adapters/bitcoin/scan.ts:2 → viem/utils, whose home is server/src/adapters/evm',
    'server/src/adapters/bitcoin/scan.ts:3 → left-pad, which has no home',
  ],
  homesAreLivedIn: ['server/src/api is a home of fastify and does not import it'],
  noCycles: [
    'cycle: server/src/services/first.ts → server/src/services/second.ts → server/src/services/third.ts → server/src/services/first.ts',
  ],
  ceilingsHold: [
    'server/src/adapters/evm/parse.ts:1 parse: 72 lines, 70 at most',
    'server/src/main.ts: 401 lines, 400 at most',
  ],
  wordsAreOurs: [
    'server/src/lib/utils.ts: "utils" in its name is a banned word',
    'server/src/services/quote.ts: "process" in processData is a banned word',
  ],
  filesAreKebabCase: ['server/src/domain/Price.ts is not kebab-case'],
  exportsHaveNames: ['server/src/domain/Price.ts has a default export'],
  numbersAreListed: [
    'server/src/adapters/bitcoin/scan.ts:4 toFixed( is on no list',
    'server/src/lib/assert.ts is on the list of numbers and makes none',
  ],
  environmentHasReaders: [
    'server/src/adapters/bitcoin/scan.ts:4 reads process.env',
    'server/src/api/app.ts:3 reads process.env',
  ],
}
