/** What `npm start` runs, from the root of the repository. `npm test` and the global setup build it (scripts/build.mjs). */
export const serverMain = 'server/dist/main.js'
