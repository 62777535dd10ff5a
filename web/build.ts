/** Builds the pages that run in a browser into `dist/`: `node web/build.ts`. The install step does it (scripts/build.mjs). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { build, type InlineConfig } from 'vite'

const folder = import.meta.dirname

/** The client library is bundled from its sources, so that it needs no build of its own. */
const common: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins: [react()],
  resolve: { alias: { '@swapyard/sdk': join(folder, '../sdk/src/index.ts') } },
}

/** `base`: the path below which server/src/pages/web-assets.ts serves the files. No source maps: the sources are public. */
function pages(name: string): InlineConfig {
  return {
    ...common,
    root: join(folder, name),
    base: `/${name}/`,
    build: {
      outDir: join(folder, 'dist', name),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // test/pages/console measures what a first visit loads.
      chunkSizeWarningLimit: 1_000,
    },
  }
}

/** One classic script with a stable name, for partners' sites. The targets know `light-dark()`: replacing it takes three times the style. */
const widget: InlineConfig = {
  ...common,
  plugins: [],
  root: join(folder, 'widget'),
  build: {
    target: ['chrome123', 'edge123', 'firefox126', 'safari17.5'],
    outDir: join(folder, 'dist/widget'),
    emptyOutDir: true,
    lib: {
      entry: join(folder, 'widget/src/main.ts'),
      formats: ['iife'],
      name: 'Swapyard',
      fileName: () => 'widget.js',
    },
  },
}

async function buildPages(): Promise<void> {
  for (const config of [pages('console'), pages('playground'), widget])
    if (existsSync(config.root ?? '')) await build(config)
}

if (import.meta.main) await buildPages()
