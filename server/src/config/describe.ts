import type { TSchema } from 'typebox'
import { fileSchema } from './file.ts'
import { type Config, environmentSchema } from './load.ts'

const MASK = '[secret]'
const TITLE = 'Made by `swapyard settings`. A test compares it with the schema in server/src/config/load.ts.'

/** The settings in force, for the log: every secret masked, of a node's URL only its host. */
export function describeConfig(config: Config): Record<string, unknown> {
  const mask = (value: string | null): string | null => (value === null ? null : MASK)
  const networks = [...config.networks].map(([ticker, { rpcUrls }]) => [ticker, { nodes: rpcUrls.map(hostOf) }])
  return {
    ...config,
    databaseUrl: config.databaseUrl === null ? 'embedded' : hostOf(config.databaseUrl),
    operatorToken: mask(config.operatorToken),
    pepper: MASK,
    keystore: { file: config.keystore.file, passphrase: mask(config.keystore.passphrase) },
    networks: Object.fromEntries(networks),
    currencies: Object.fromEntries(config.currencies),
    signerLimits: Object.fromEntries(config.signerLimits),
    prices: config.prices && { ...config.prices, sources: config.prices.sources.map(hostOf) },
    denied: config.denied.length,
    swaps: describeSwaps(config.swaps),
    limits: Object.fromEntries(Object.entries(config.limits).map(([name, usd]) => [name, `${usd / 10n ** 12n}`])),
  }
}

function describeSwaps({
  feeAddresses,
  tokens,
  disabled,
  aggregators,
  ...rest
}: Config['swaps']): Record<string, unknown> {
  const counts = [...tokens].map(([network, own]) => [network, own.length])
  return {
    ...rest,
    feeAddresses: Object.fromEntries(feeAddresses),
    tokens: Object.fromEntries(counts),
    disabled: [...disabled],
    aggregators: aggregators.map(({ id, url }) => (url === null ? id : `${id} ${hostOf(url)}`)),
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : MASK
}

type Described = Readonly<{
  description: string
  standard: string | null
  isSecret: boolean
  values: readonly string[] | null
}>

function describe(schema: TSchema): Described {
  const {
    description = '',
    default: standard = null,
    secret = false,
    enum: values = null,
  } = schema as Record<string, unknown>
  return {
    description: String(description),
    standard: standard === null ? null : String(standard),
    isSecret: secret === true,
    values: Array.isArray(values) ? values.map(String) : null,
  }
}

/** `.env.example`: every variable, commented out, with its default. */
export function envExample(): string {
  const blocks = Object.entries(environmentSchema.properties).map(([name, schema]) => {
    const { description, standard, isSecret, values } = describe(schema)
    const remarks = [
      values ? `One of ${values.join(', ')}.` : '',
      isSecret ? `Or ${name}_FILE: the path of a file that holds it.` : '',
    ]
    const lines = [`${description}.`, ...remarks.filter((remark) => remark !== '')]
    return `${lines.map((line) => `# ${line}`).join('\n')}\n#${name}=${standard ?? ''}\n`
  })
  return `# ${TITLE}\n\n${blocks.join('\n')}`
}

/** `docs/settings.md`: the variables, then the file's members. */
export function settingsPage(): string {
  const variables = Object.entries(environmentSchema.properties).map(([name, schema]) => {
    const { description, standard, isSecret, values } = describe(schema)
    const notes = [
      values ? `One of ${values.map(code).join(', ')}.` : '',
      isSecret ? `Secret: ${code(`${name}_FILE`)} names a file instead.` : '',
    ]
    return row(
      code(name),
      standard === null ? '' : code(standard),
      [`${description}.`, ...notes].filter((note) => note !== '').join(' '),
    )
  })
  return `# Settings

<!-- ${TITLE} -->

The program reads environment variables and, where \`SWAPYARD_CONFIG\` names one, a JSON file. A variable with the prefix
\`SWAPYARD_\` that is not in this list is refused with the nearest known name, and so is an unknown member of the file: a typing
error must not become a silent default. All problems are reported at once; the program then exits with code 2. An empty variable
counts as unset.

Without \`SWAPYARD_CONFIG\` the program is the sandbox: it makes its own secrets in the data folder, listens on loopback only and
knows the partners \`sandbox\` and \`sandbox-b\`. With a file whose \`environment\` is \`production\` (its default) it needs
\`DATABASE_URL\`, \`SWAPYARD_PEPPER\`, at least one network, \`prices\` and, on workers, \`SWAPYARD_KEYSTORE_PASSPHRASE\`.

## Environment

| variable | default | meaning |
|---|---|---|
${variables.join('\n')}

## File

Durations are a number and a unit: \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`.

| member | default | meaning |
|---|---|---|
${members('', fileSchema).join('\n')}

\`\`\`json
{
  "networks": { "btc": { "rpcUrls": ["https://user:password@node-a.example", "https://node-b.example"] } },
  "currencies": { "btc@btc": { "rank": 1 } },
  "spreads": { "majorBps": 35 },
  "clocks": { "fixedLock": "15m" },
  "limits": { "hourUsd": 100000 }
}
\`\`\`
`
}

function members(path: string, schema: TSchema): string[] {
  const { properties, patternProperties } = schema as {
    properties?: Record<string, TSchema>
    patternProperties?: Record<string, TSchema>
  }
  const inner = properties
    ? Object.entries(properties)
    : Object.values(patternProperties ?? {}).map((each) => ['<name>', each] as const)
  const { description, standard, values } = describe(schema)
  const own =
    description === ''
      ? []
      : [
          row(
            code(path),
            standard === null ? '' : code(standard),
            `${description}.${values ? ` One of ${values.map(code).join(', ')}.` : ''}`,
          ),
        ]
  return [...own, ...inner.flatMap(([name, each]) => members(path === '' ? name : `${path}.${name}`, each))]
}

function code(text: string): string {
  return `\`${text}\``
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
