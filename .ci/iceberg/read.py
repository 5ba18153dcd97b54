"""Reads the tables of netsim's lake as Iceberg, and prints every row of each as JSON: the
table, and the texts of its columns. The first argument is the reader: pyiceberg, with the
catalogue and the files as shipped, or spark. Settings are in the environment."""
import datetime, decimal, glob, json, os, sys
from urllib.parse import urlsplit

postgres, endpoint, region = os.environ["POSTGRES"], os.environ["S3_ENDPOINT"], os.environ["S3_REGION"]
key, secret, jars = os.environ["S3_KEY"], os.environ["S3_SECRET"], os.environ.get("JARS")
at = urlsplit(postgres)


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.timezone.utc)
        fraction = f".{value.microsecond:06}".rstrip("0").rstrip(".") if value.microsecond else ""
        return value.strftime("%Y-%m-%d %H:%M:%S") + fraction + "+00"
    return str(value)


def show(table, columns, rows):
    for row in rows:
        print(json.dumps([table, dict(zip(columns, map(text, row)))]))


def pyiceberg():
    from pyiceberg.catalog.sql import SqlCatalog

    address = f"postgresql+psycopg2://{at.username or ''}:{at.password or ''}@{at.hostname}:{at.port}{at.path}?options=-csearch_path%3Dlake"
    catalog = SqlCatalog("netsim", uri=address, init_catalog_tables="false", **{
        "s3.endpoint": endpoint, "s3.access-key-id": key, "s3.secret-access-key": secret, "s3.region": region,
    })
    for name in sorted(n for _, n in catalog.list_tables("lake")):
        table = catalog.load_table(("lake", name))
        rows = table.scan().to_arrow()
        show(name, rows.column_names, (r.values() for r in rows.to_pylist()))
        last = max((r["source_offset"] for r in rows.to_pylist()), default=0)
        skipped = table.scan(row_filter=f"source_offset >= {last // 2} and source_offset <= {last}").to_arrow()
        want = sum(r["source_offset"] >= last // 2 for r in rows.to_pylist())
        assert len(skipped) == want, f"{name}: a filter finds {len(skipped)} rows, not {want}"
        assert all(f.doc for f in table.schema().fields), f"{name} has columns without a comment"


def spark():
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": ",".join(sorted(glob.glob(jars + "/*.jar"))), "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.sql.catalog.netsim": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.netsim.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "spark.sql.catalog.netsim.uri": f"jdbc:postgresql://{at.hostname}:{at.port}{at.path}?currentSchema=lake",
        "spark.sql.catalog.netsim.jdbc.user": at.username or "", "spark.sql.catalog.netsim.jdbc.password": at.password or "",
        "spark.sql.catalog.netsim.jdbc.schema-version": "V1", "spark.sql.catalog.netsim.warehouse": "s3://unused",
        "spark.sql.catalog.netsim.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.catalog.netsim.s3.endpoint": endpoint, "spark.sql.catalog.netsim.s3.path-style-access": "true",
        "spark.sql.catalog.netsim.s3.access-key-id": key, "spark.sql.catalog.netsim.s3.secret-access-key": secret,
        "spark.sql.catalog.netsim.client.region": region,
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for name in sorted(r["tableName"] for r in session.sql("SHOW TABLES IN netsim.lake").collect()):
        rows = session.table(f"netsim.lake.{name}")
        show(name, rows.columns, rows.collect())
    session.stop()


{"pyiceberg": pyiceberg, "spark": spark}[sys.argv[1]]()
