// The versions that stand beside this one; `versions.js`, written by the latest build, lists them.
for (const version of globalThis.VERSIONS ?? []) {
  const select = document.getElementById("versions");
  if (version !== select.options[0].value) select.add(new Option(version));
  select.onchange = () => {
    const here = new URL(document.documentElement.dataset.content_root, location.href);
    location.href = new URL(`../${select.value}/index.html`, here).href;
  };
}
