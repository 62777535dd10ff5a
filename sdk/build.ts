/** Builds the package and packs it into `dist/`: `node sdk/build.ts`. The install step does it (scripts/build.mjs). */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'

const folder = import.meta.dirname

/**
 * ES modules, CommonJS, the types for both, and the command line. Not minified, so that a partner can read a stack trace;
 * the bundler of a page minifies anyway. The types have the comments.
 */
export async function buildPackage(target: string): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const library = { input: join(folder, 'src/index.ts'), platform: 'neutral' as const }
  await build([
    { ...library, output: { file: join(target, 'esm/index.js'), format: 'esm', comments: false } },
    { ...library, output: { file: join(target, 'cjs/index.js'), format: 'cjs', comments: false } },
    {
      input: join(folder, 'src/cli/main.ts'),
      platform: 'node',
      output: { file: join(target, 'cli/main.js'), format: 'esm' },
    },
  ])
  const types = join(target, 'esm')
  execFileSync(process.execPath, [findTypeScript(), '-p', join(folder, 'tsconfig.build.json'), '--outDir', types], {
    stdio: 'inherit',
  })
  for (const path of globSync('**/*.d.ts', { cwd: types })) {
    // The compiler keeps the extensions of the sources, which are not in the package.
    const text = readFileSync(join(types, path), 'utf8').replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'")
    for (const format of ['esm', 'cjs']) {
      mkdirSync(dirname(join(target, format, path)), { recursive: true })
      writeFileSync(join(target, format, path), text)
    }
  }
  writeFileSync(join(target, 'cjs/package.json'), '{ "type": "commonjs" }\n')
}

/** Builds the package in a folder of its own, and packs it as `npm publish` would, without a registry. */
export async function packPackage(target: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'swapyard-sdk-'))
  try {
    const source = join(work, 'source')
    mkdirSync(source)
    for (const name of ['package.json', 'README.md', 'LICENSE']) cpSync(join(folder, name), join(source, name))
    await buildPackage(join(source, 'dist'))
    // The folder is named, because a surrounding `npm start` may have set another one for its children.
    const options = ['--ignore-scripts', '--offline', '--loglevel=error', '--pack-destination', work]
    execFileSync('npm', ['pack', source, ...options], { cwd: work })
    const [name = ''] = globSync('*.tgz', { cwd: work })
    mkdirSync(dirname(target), { recursive: true })
    // A server that reads the archive meanwhile gets the old one or the new one as a whole.
    copyFileSync(join(work, name), `${target}.new`)
    renameSync(`${target}.new`, target)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const findTypeScript = () => join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')

if (import.meta.main) await packPackage(join(folder, 'dist/swapyard-sdk.tgz'))
