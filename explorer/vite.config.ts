import { defineConfig } from "vite";

// One script and one style sheet with fixed names: the server sends them as they are, and an exported file inlines them.
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    outDir: "../tritium/explorer/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    sourcemap: false,
    reportCompressedSize: false,
    assetsInlineLimit: 100_000,
    rollupOptions: {
      output: { entryFileNames: "explorer.js", assetFileNames: "explorer[extname]", codeSplitting: false },
    },
  },
});
