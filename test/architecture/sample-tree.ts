import { architecture } from './layers.ts'
import type * as rules from './rules.ts'

const long = (lines: number): string => 'note\n'.repeat(lines - 1).replace(/^|(?<=\n)(?=.)/g, '// ')

/** A small tree that breaks every rule, and valid code that resembles a fault. */
export const sampleTree: Readonly<Record<string, string>> = {
  'server/src/lib/assert.ts': 'export const assert = (x: unknown) => x\n',
  'server/src/lib/utils.ts': "import type { Amount } from '../core/domain/amount.ts'\nexport type A = Amount\n",
  'server/src/core/domain/amount.ts':
    "import { assert } from '../../lib/assert.ts'\nexport type Amount = { text: string }\nexport const units = assert(Number('1'))\nexport const five = BigInt(5) + -1n\n",
  'server/src/core/domain/Price.ts': "import '../ports/prices.ts'\nexport default 1\n",
  'server/src/core/ports/prices.ts': "import type { Amount } from '../domain/amount.ts'\nexport type Prices = Amount\n",
  'server/src/exchange/quotes/quote.ts':
    "import { scan } from '../../adapters/chains/evm/scan.ts'\nimport { track } from '../../swap/track/track.ts'\nexport function processData() {\n  return [scan, track]\n}\n",
  'server/src/exchange/api/rate.ts': "import '../quotes/quote.ts'\nimport '../../core/http/server.ts'\n",
  'server/src/swap/track/track.ts':
    "import '../../core/ports/prices.ts'\nimport '../../core/http/server.ts'\nexport const track = 1\n",
  'server/src/swap/routing/first.ts': "import './second.ts'\n",
  'server/src/swap/routing/second.ts': "export type { X } from './third.ts'\n",
  'server/src/swap/routing/third.ts': "export type X = import('./first.ts').X\n",
  'server/src/adapters/chains/evm/scan.ts':
    "import { parse } from './parse.ts'\nimport '../shared/agreement.ts'\nimport { createPublicClient } from 'viem'\nexport const scan = [parse, createPublicClient]\n",
  'server/src/adapters/chains/evm/parse.ts': `export const parse = () => {\n${long(71)}}\n`,
  'server/src/adapters/chains/shared/agreement.ts': "import '../../../exchange/quotes/quote.ts'\n",
  'server/src/adapters/chains/bitcoin/scan.ts':
    "import { scan } from '../evm/scan.ts'\nimport { getAddress } from 'viem/utils'\nconst late = await import('left-pad')\nexport const all = [scan, getAddress, late, process.env['HOME'], (1.5).toFixed(2)]\n",
  'server/src/core/http/server.ts':
    "import '../../../../sandbox/src/main.ts'\nimport fs from 'node:fs'\nimport { env } from 'node:process'\nexport const database = [fs, env]\n",
  'server/src/elsewhere/module.ts': 'export {}\n',
  'server/src/app/workers.ts': "import '../exchange/deposits/missing.ts'\nimport '../cli/program.ts'\n",
  'server/src/cli/program.ts': "import '../app/workers.ts'\n",
  'server/src/main.ts': `import './cli/program.ts'\n${long(401)}`,
  'server/networks/eth.ts': `import '../src/core/domain/amount.ts'\n${long(500)}`,
  'sandbox/src/settings.ts': 'export const userFolder = process.env.HOME\n',
  'sandbox/src/main.ts': "import './settings.ts'\n",
}

export const sampleArchitecture = {
  ...architecture,
  importers: { viem: ['server/src/adapters/chains/evm'], fastify: ['server/src/core/http'] },
  numbers: { 'server/src/core/domain/amount.ts': 'a sample', 'server/src/lib/assert.ts': 'a sample without one' },
}

export const sampleFaults: Readonly<Record<keyof typeof rules, readonly string[]>> = {
  importsFollowLayers: [
    'server/src/lib/utils.ts:1 (lib) → server/src/core/domain/amount.ts (core) breaks the layers',
    'server/src/core/domain/Price.ts:1 (core) → server/src/core/ports/prices.ts (core) breaks the layers',
    'server/src/exchange/quotes/quote.ts:1 (exchange) → server/src/adapters/chains/evm/scan.ts (chains/evm) breaks the layers',
    'server/src/exchange/quotes/quote.ts:2 (exchange) → server/src/swap/track/track.ts (swap) breaks the layers',
    'server/src/swap/track/track.ts:2 (swap) → server/src/core/http/server.ts (core) breaks the layers',
    'server/src/adapters/chains/shared/agreement.ts:1 (chains/shared) → server/src/exchange/quotes/quote.ts (exchange) breaks the layers',
    'server/src/adapters/chains/bitcoin/scan.ts:1 (chains/bitcoin) → server/src/adapters/chains/evm/scan.ts (chains/evm) breaks the layers',
    'server/src/core/http/server.ts:1 (core) → sandbox/src/main.ts (sandbox) breaks the layers',
    'server/src/elsewhere/module.ts has no place in the layout',
    'server/src/app/workers.ts:1 → server/src/exchange/deposits/missing.ts, which does not exist',
    'server/src/app/workers.ts:2 (app) → server/src/cli/program.ts (cli) breaks the layers',
  ],
  librariesHaveNamedImporters: [
    'server/src/adapters/chains/bitcoin/scan.ts:2 → viem/utils, which only server/src/adapters/chains/evm may import',
    'server/src/adapters/chains/bitcoin/scan.ts:3 → left-pad, which no file may import',
  ],
  namedImportersImport: ['server/src/core/http may import fastify and does not'],
  noCycles: [
    'cycle: server/src/exchange/quotes/quote.ts → server/src/adapters/chains/evm/scan.ts → server/src/adapters/chains/shared/agreement.ts → server/src/exchange/quotes/quote.ts',
    'cycle: server/src/swap/routing/first.ts → server/src/swap/routing/second.ts → server/src/swap/routing/third.ts → server/src/swap/routing/first.ts',
    'cycle: server/src/app/workers.ts → server/src/cli/program.ts → server/src/app/workers.ts',
  ],
  filesAndFunctionsAreShort: [
    'server/src/adapters/chains/evm/parse.ts:1 parse: 72 lines, 70 at most',
    'server/src/main.ts: 401 lines, 400 at most',
  ],
  namesAvoidVagueWords: [
    'server/src/lib/utils.ts: "utils" in its name says nothing',
    'server/src/exchange/quotes/quote.ts: "process" in processData says nothing',
  ],
  filesAreKebabCase: ['server/src/core/domain/Price.ts is not kebab-case'],
  exportsAreNamed: ['server/src/core/domain/Price.ts has a default export'],
  numberConversionsAreListed: [
    'server/src/adapters/chains/bitcoin/scan.ts:4 toFixed( is not in the list of number conversions',
    'server/src/lib/assert.ts is in the list of number conversions and has none',
  ],
  onlyListedFilesReadTheEnvironment: [
    'server/src/adapters/chains/bitcoin/scan.ts:4 reads process.env',
    'server/src/core/http/server.ts:3 reads process.env',
  ],
}
