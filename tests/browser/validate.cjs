// Prints the report of the Khronos glTF validator on a file as JSON: node validate.cjs FILE
const fs = require("fs");
const validator = require("gltf-validator");

validator
  .validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])), { maxIssues: 0 })
  .then((report) => console.log(JSON.stringify(report)));
