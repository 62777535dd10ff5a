/**
 * Bundles the server into `dist/`, which starts in two thirds of the time and with 50 MB less than its 2,700 modules:
 * `node server/build.ts`. The install step does it (scripts/build.mjs).
 */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'rolldown'

const folder = import.meta.dirname
const dist = join(folder, 'dist')

/** The process, its threads, and the module that tests subscribe to. Each has the name of its source in `dist/`. */
const entries = [
  'src/main.ts',
  'src/app/router-thread.ts',
  'src/adapters/signers/child-key-thread.ts',
  'src/core/services/checkpoint.ts',
]
const nameOf = (entry: string) => (/([^/]+)\.ts$/.exec(entry) ?? [])[1] ?? ''

/** Files are found from the place of the source that names them, and threads are those of the bundle. */
const keepPaths: Plugin = {
  name: 'keep-paths',
  transform: {
    filter: { id: { include: /\.ts$/, exclude: /node_modules/ }, code: /import\.meta/ },
    handler(code, id) {
      const source = relative(dist, id)
      const place: Readonly<Record<string, string>> = {
        'import.meta.url': `new URL(${JSON.stringify(source)}, import.meta.url).href`,
        'import.meta.dirname': `(import.meta.dirname + ${JSON.stringify(`/${dirname(source)}`)})`,
      }
      const threads = entries.map(nameOf).join('|')
      const pattern = new RegExp(
        `new URL\\('\\./(?<thread>${threads})\\.ts', import\\.meta\\.url\\)|import\\.meta\\.(url|dirname)\\b`,
        'g',
      )
      const replaced = code.replace(pattern, (found, thread?: string) =>
        thread === undefined ? (place[found] ?? found) : `new URL('./${thread}.js', import.meta.url)`,
      )
      // Lines stay, so their map does.
      return { code: replaced, map: null }
    },
  },
}

/** Stack traces name our sources. Maps of the packages would be four fifths of all, and each process would read them. */
const mapOwnSources: Plugin = {
  name: 'map-own-sources',
  transform: {
    filter: { id: /node_modules/ },
    handler: (code) => ({ code, map: { mappings: '' } }),
  },
}

/** A process that started before an update loads the rest of its own chunks later: they stay for this time at least. */
const KEPT_MS = 30 * 86_400_000
/** A build writes all of its files within this time. */
const WRITING_MS = 60_000

/** Deletes the chunks of earlier builds that are older than both limits. The build that is replaced now may still run. */
function removeOldChunks(replacedAt: number): void {
  for (const name of readdirSync(dist)) {
    const file = join(dist, name)
    const { mtimeMs } = statSync(file)
    if (mtimeMs < replacedAt - WRITING_MS && Date.now() - mtimeMs > KEPT_MS) rmSync(file)
  }
}

async function buildServer(): Promise<void> {
  // Until the build has succeeded, nothing says which sources it is of.
  rmSync(join(dist, '.stamp'), { force: true })
  const replacedAt = statSync(join(dist, 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  await build({
    input: Object.fromEntries(entries.map((entry) => [nameOf(entry), join(folder, entry)])),
    platform: 'node',
    plugins: [keepPaths, mapOwnSources],
    // Optional packages that are not installed.
    external: ['pg-native'],
    logLevel: 'warn',
    output: {
      dir: dist,
      format: 'esm',
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    },
  })
  removeOldChunks(replacedAt)
}

if (import.meta.main) await buildServer()
